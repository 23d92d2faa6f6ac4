/*
 * wanted.c - whether a backend with these options is to get a private server.
 */
#include "service/service.h"

static bool is_set(const struct bk_options *options, const char *name)
{
	return name && bk_options_is_set(options, name);
}

bool bk_service_wanted(const struct bk_plugin *plugin, const struct bk_options *options)
{
	const struct bk_service *service = plugin->desc.service;
	const struct bk_option *url = bk_options_flagged(options, BK_OPTF_URL);
	const struct bk_setting *reach;

	if (!service || (url && is_set(options, url->name)))
		return false;
	for (reach = service->reach; reach && reach->key; reach++) {
		if (is_set(options, reach->key))
			return false;
	}
	return true;
}
