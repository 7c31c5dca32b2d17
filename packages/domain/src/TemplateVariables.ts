/** What every campaign's subject and body may name, beside the fields of recipients. */
export interface TemplateVariables {
  readonly token: string
  readonly campaign_name: string
  readonly program_name: string
  /** Who sends the e-mail, and the postal address; only in programs that have them. */
  readonly sender_name?: string
  readonly postal_address?: string
  /** Shows the page on which the recipient unsubscribes. */
  readonly unsubscribe_url: string
  /** The partner's own link to the recipient's token; only in campaigns that have one. */
  readonly short_link?: string
}

/** What templates are tried with, before there is a recipient. */
export const SAMPLE: TemplateVariables = {
  token: "aB3dE9",
  campaign_name: "Campaign",
  program_name: "Program",
  sender_name: "Sender",
  postal_address: "Postal address",
  unsubscribe_url: "https://outreach.test/unsubscribe/x",
}

/** What every template may name. */
export const VARIABLE_NAMES: ReadonlySet<string> = new Set([...Object.keys(SAMPLE), "short_link"])
