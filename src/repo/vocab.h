/*
 * vocab.h - the predicates that the scenarios use, as whole URIs; also the relations of links.
 */
#ifndef BK_REPO_VOCAB_H
#define BK_REPO_VOCAB_H

#define BK_LDP  "http://www.w3.org/ns/ldp#"
#define BK_PCDM "http://pcdm.org/models#"
#define BK_ORE  "http://www.openarchives.org/ore/terms/"
#define BK_DCT  "http://purl.org/dc/terms/"

#define BK_CONTAINS            BK_LDP "contains"
#define BK_MEMBERSHIP_RESOURCE BK_LDP "membershipResource"
#define BK_HAS_MEMBER          BK_PCDM "hasMember"
#define BK_MEMBER_OF           BK_PCDM "memberOf"
#define BK_PROXY_FOR           BK_ORE "proxyFor"
#define BK_PROXY_IN            BK_ORE "proxyIn"
#define BK_TITLE               BK_DCT "title"
#define BK_SUBJECT             BK_DCT "subject"
#define BK_RELATION            BK_DCT "relation"
#define BK_EXTENT              BK_DCT "extent"     /* size of a binary in bytes */
#define BK_IDENTIFIER          BK_DCT "identifier" /* key of a binary */
#define BK_FORMAT              BK_DCT "format"     /* its MIME type */
#define BK_HAS_DIGEST          "http://www.loc.gov/premis/rdf/v1#hasMessageDigest"

#endif
