/*
 * wanted.c - whether a backend with these options is to get a private server.
 */
#include "service/service.h"

#include <string.h>

/* Options that say where, not who: a user name from the environment reaches no server. */
static bool says_where(const struct bk_setting *reach)
{
	return reach->value && (strstr(reach->value, "{run}") || strstr(reach->value, "{host}") ||
				strstr(reach->value, "{socket}") || strstr(reach->value, "{port}"));
}

bool bk_service_wanted(const struct bk_plugin *plugin, const struct bk_options *options)
{
	const struct bk_service *service = plugin->desc.service;
	const struct bk_option *url = bk_options_flagged(options, BK_OPTF_URL);
	const struct bk_setting *reach;

	if (!service || (url && bk_options_is_set(options, url->name)))
		return false;
	for (reach = service->reach; reach && reach->key; reach++) {
		if (says_where(reach) && bk_options_is_set(options, reach->key))
			return false;
	}
	return true;
}
