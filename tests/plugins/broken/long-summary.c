/* expect: its summary is several lines */
#define BASE_SUMMARY "one\ntwo"
#include "base.h"
