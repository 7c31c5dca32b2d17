-- Returns a number that grows with what a domain answered: most with refusals, for which an operator looks.
create or replace function domain_size(
  sent integer, deferred integer, refused integer, mailbox_not_found integer, mailbox_disabled integer, domain_not_found integer,
  address_invalid integer, other integer
) returns integer language sql immutable as $$
  select floor(ln(1 + sent + 10::double precision * (deferred + refused)
    + 10 * (mailbox_not_found + mailbox_disabled + domain_not_found + address_invalid + other)) * 2)::integer
$$;
