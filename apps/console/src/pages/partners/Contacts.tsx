import { field, required } from "@outreach/backoffice/operations/Field"
import { MAX_CONTACTS, type Organization } from "@outreach/domain/organizations/Organization"
import { OrganizationRepository } from "@outreach/domain/organizations/OrganizationRepository"
import { parseInput } from "@outreach/domain/parseInput"
import { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { noneOr, textSchema } from "@outreach/domain/textSchema"
import { Effect, Result } from "effect"
import { ActionForm } from "../../components/forms.tsx"
import { Section } from "../../components/layout.tsx"
import { ForeignText, Masked } from "../../components/values.tsx"
import { defineAction, type Masking } from "../../http/Route.ts"

const addresses = textSchema(`1 to ${MAX_CONTACTS} e-mail addresses, separated by commas, or none`, (text) => {
  const parsed = text.split(",").map((each) => parseInput(EmailAddress)(each.trim()))
  const contacts = [...new Set(parsed.flatMap((each) => (Result.isSuccess(each) ? each.success : [])))]
  return parsed.every(Result.isSuccess) && contacts.length <= MAX_CONTACTS ? contacts : undefined
})

export const contactsAction = defineAction("/partners/:organization/contacts", "organizations update", {
  role: "admin",
  inputs: {
    contact: required(
      field(noneOr(addresses), "Contacts", {
        hint: `Up to ${MAX_CONTACTS} addresses, separated by commas, replacing the current ones; or none`,
        size: 48,
      }),
    ),
  },
  run: Effect.fnUntraced(function* ({ organization, contact }) {
    const { contacts } = yield* (yield* OrganizationRepository).setContacts(organization, contact ?? [])
    return {
      to: `/partners/${organization}`,
      notice:
        contacts.length === 0 ? "Contacts removed. No one is notified when an endpoint fails." : "Contacts replaced.",
    }
  }),
})

/** The people who are notified of a failing endpoint. */
export const Contacts = (props: Masking & { readonly organization: Organization }) => {
  const { isShown, show, organization } = props
  const { id, contacts } = organization
  return (
    <Section title="Contacts" id="contacts">
      <p>
        {contacts.length === 0
          ? "No one is notified when every call to an endpoint fails. The endpoint is still disabled."
          : "Notified by e-mail when every call to an endpoint fails: "}
        {contacts.map((contact, i) => (
          <>
            {i > 0 && ", "}
            {isShown ? <ForeignText>{contact}</ForeignText> : <Masked>{maskEmail(contact)}</Masked>}
          </>
        ))}
      </p>
      {contacts.length > 0 && !isShown && <ActionForm action={show} label="Show the contacts" />}
      <ActionForm action={contactsAction} params={{ organization: id }} label="Replace the contacts" />
    </Section>
  )
}
