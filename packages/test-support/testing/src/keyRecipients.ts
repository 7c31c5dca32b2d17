/** Gives inserted recipients their keys, as an import does. */
export const KEY_RECIPIENTS = `
  insert into recipient_keys (organization_id, token, campaign_id, npi, email, recipient_id)
  select organization_id, token, campaign_id, npi, lower(email), id from recipients
  on conflict do nothing`
