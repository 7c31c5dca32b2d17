-- Remembers who runs the mail servers of each recipient domain, by its MX records: null until they were looked up, and where there are none.
create table mail_operators (
  domain text collate "C" primary key,
  operator text collate "C",
  -- When a message to the domain was last queued or sent; a day's difference is not written.
  needed_at timestamptz not null default clock_timestamp(),
  looked_up_at timestamptz,
  look_up_at timestamptz not null default clock_timestamp()
);
create index mail_operators_to_look_up on mail_operators (look_up_at);
