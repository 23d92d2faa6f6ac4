/*
 * main.c - the program: hands the command line to cmd/.
 */
#include "cmd/cmd.h"

int main(int argc, char **argv)
{
	return bk_cmd_main(argc, argv);
}
