-- What died of an endpoint that loses few is listed without a look at all dead letters.
create index concurrently dead_letters_of_endpoint on dead_letters (endpoint_id, id);
