/* expect: its summary is missing */
#define BASE_SUMMARY ""
#include "base.h"
