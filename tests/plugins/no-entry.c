/* A shared object that is no backend. */
int answer(void);

__attribute__((visibility("default"))) int answer(void)
{
	return 42;
}
