/*
 * service.h - the private server of both S3 backends.
 */
#ifndef BK_S3_SERVICE_H
#define BK_S3_SERVICE_H

#include <bakeoff/backend.h>

extern const struct bk_service s3_service;

#endif
