/*
 * bk-sound.so: no fault.  Every case must pass, or be skipped for want of a feature.
 */
#include "sound.h"

SND_BACKEND("sound", "keeps the contract; the faulty backends are made of it", SND_STORE(),
	    SND_SESSION(), SND_TXN(), SND_NODE(), SND_BINARY());
