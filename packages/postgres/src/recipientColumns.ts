/** The columns of a recipient, named as the domain names them. */
export const recipientColumns = `
  organization_id as "organizationId", id, campaign_id as "campaignId", program_id as "programId", token, npi, email,
  created_at as "createdAt", updated_at as "updatedAt", sent_at as "sentAt", bounced_at as "bouncedAt",
  last_event_at as "lastEventAt"`
