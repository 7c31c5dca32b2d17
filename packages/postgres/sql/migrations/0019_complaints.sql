-- Recipients who reported their message as unwanted. No event tells of it, so the recipient's own row and its stamp stay as they are.
create table complaints (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  recipient_id text collate "C" not null,
  feedback_type text not null,
  reported_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, campaign_id, recipient_id),
  foreign key (organization_id, recipient_id) references recipients
);
