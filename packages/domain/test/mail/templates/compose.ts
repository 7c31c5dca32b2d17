import { composeBody } from "../../../src/mail/templates/composeBody.ts"
import type { RecipientFields } from "../../../src/recipients/RecipientFields.ts"
import { testLinks, to } from "../testLinks.ts"

export const links = testLinks()
export const variables = {
  token: "aB3dE9",
  campaign_name: "Spring & summer",
  program_name: "Heart <3",
  sender_name: "Acme & Sons",
  postal_address: "1 Main Street, Springfield, IL 62701",
  unsubscribe_url: links.unsubscribe(to),
  short_link: "https://go.partner.test/aB3dE9?a=1&b=%22",
}

/** Composes the body of a recipient with these fields. */
export const compose = (html: string, fields: RecipientFields = {}) =>
  composeBody({ preheader: null, html, text: null }, links)(to, { ...fields, ...variables })
