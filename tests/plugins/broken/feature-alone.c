/* expect: feature 'batch-atomic' is declared without 'put-many' */
#define BASE_EMULATED BK_F_BATCH_ATOMIC
#include "base.h"
