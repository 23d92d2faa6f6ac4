/* The base as it is: taken by the loader, so that each refusal has one cause. */
#include "base.h"
