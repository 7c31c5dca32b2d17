/** Variables for the subject and body of every campaign, in addition to recipient fields. */
export interface TemplateVariables {
  readonly token: string
  readonly campaign_name: string
  readonly program_name: string
  /** Sender and postal address; only in programs that have them. */
  readonly sender_name?: string
  readonly postal_address?: string
  /** URL of the page on which the recipient unsubscribes. */
  readonly unsubscribe_url: string
  /** The partner's link with the recipient's token; only in campaigns that have one. */
  readonly short_link?: string
}

/** Sample values for checking templates before there are recipients. */
export const SAMPLE: TemplateVariables = {
  token: "aB3dE9",
  campaign_name: "Campaign",
  program_name: "Program",
  sender_name: "Sender",
  postal_address: "Postal address",
  unsubscribe_url: "https://outreach.test/unsubscribe/x",
}

/** Names of all variables. */
export const VARIABLE_NAMES: ReadonlySet<string> = new Set([...Object.keys(SAMPLE), "short_link"])
