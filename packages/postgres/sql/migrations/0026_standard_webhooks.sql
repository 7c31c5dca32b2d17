-- Whether an endpoint's webhooks carry the headers of Standard Webhooks, too: docs/decisions/0055-one-secret-signs-both-headers.md.
alter table webhook_endpoints add column if not exists standard_webhooks boolean not null default false;
