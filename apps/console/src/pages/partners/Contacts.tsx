import { updateOrganization } from "@outreach/backoffice/operations/organizations"
import type { Organization } from "@outreach/domain/organizations/Organization"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { ActionForm, RevealForm } from "../../components/forms.tsx"
import { Section } from "../../components/layout.tsx"
import { ForeignText, Masked } from "../../components/values.tsx"
import { operationAction } from "../../http/operationRoutes.tsx"
import type { Masking } from "../../view/View.ts"

export const contactsAction = operationAction("/partners/:organization/contacts", updateOrganization)

/** The people who are notified of a failing endpoint. */
export const Contacts = ({ organization, ...masking }: Masking & { readonly organization: Organization }) => {
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
            {masking.isShown ? <ForeignText>{contact}</ForeignText> : <Masked>{maskEmail(contact)}</Masked>}
          </>
        ))}
      </p>
      {contacts.length > 0 && <RevealForm {...masking} label="Show the contacts" />}
      <ActionForm action={contactsAction} params={{ organization: id }} />
    </Section>
  )
}
