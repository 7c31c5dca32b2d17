import { createCampaign, scheduleCampaign } from "@outreach/backoffice/operations/campaigns"
import { createEndpoint } from "@outreach/backoffice/operations/endpoints"
import { prefixOf } from "@outreach/backoffice/operations/Field"
import { createKey } from "@outreach/backoffice/operations/keys"
import { createOperator } from "@outreach/backoffice/operations/operators"
import { createOrganization } from "@outreach/backoffice/operations/organizations"
import { createProgram } from "@outreach/backoffice/operations/programs"
import { importRecipients } from "@outreach/backoffice/operations/recipients"
import { rotateSecret } from "@outreach/backoffice/operations/secrets"
import { createSender } from "@outreach/backoffice/operations/senders"
import { createSuppression } from "@outreach/backoffice/operations/suppressions"
import { type Kind, PREFIXES } from "@outreach/domain/Identifier"
import { type Access, isPartner } from "@outreach/domain/operators/Operator"
import type { ComponentChildren } from "preact"
import type { Inputs } from "../view/inputs.ts"
import { useMay, useView } from "../view/View.ts"

/** The forms that add objects: the address, which may contain the kind of an object, and the label of a link, by default the button's. */
const FORMS: ReadonlyArray<readonly [Access & { readonly command: string; readonly label: string }, string, string?]> =
  [
    [createOrganization, "/partners#new"],
    [createKey, "/partners/:organization#keys"],
    [createEndpoint, "/endpoints#new"],
    [createProgram, "/programs#new"],
    [createSender, "/senders#new"],
    [createCampaign, "/campaigns#new"],
    [scheduleCampaign, "/campaigns?status=draft", "Schedule a campaign"],
    [importRecipients, "/campaigns/:campaign/imports/new"],
    [rotateSecret, "#secrets"],
    [createSuppression, "#add", "Suppress a clinician"],
    [createOperator, "/operators#new", "Add an operator"],
  ]

/** Returns the form of a command. Fails for a command that FORMS lacks. */
export const formOf = (command: string) => {
  const [access, address, label = access.label] = FORMS.find(([each]) => each.command === command)!
  return { access, address, label }
}

/** The commands that create the options of a choice, by the start of their ids. */
const CREATORS: Readonly<Record<string, string>> = { "org_…": "organizations create", "pgm_…": "programs create" }

/** Returns the command that creates the objects of a choice; undefined for other values. */
export const creatorOf = (input: Inputs[string]): string | undefined =>
  CREATORS[prefixOf("schema" in input ? input.schema : input) ?? ""]

/** A link to the form of a command. If the role of the operator is too low, the role that it requires; partners see no text. */
export const FormLink = (props: {
  readonly command: string
  /** The id of the object in the address. Default: that of the page; without one, the list of the objects. */
  readonly object?: string | null
  readonly isPrimary?: boolean
}) => {
  const { operator, page } = useView()
  const { access, label, address } = formOf(props.command)
  const [before = "", kind, after = ""] = address.split(/:(\w+)/)
  const id = props.object ?? (kind && new RegExp(`\\b${PREFIXES[kind as Kind]}_[0-9a-f]{32}`).exec(page)?.[0])
  const whole = kind === undefined ? address : id === undefined ? before.slice(0, -1) : `${before}${id}${after}`
  // The page keeps its filters.
  const to = whole.startsWith(`${page.split("?")[0]}#`) ? whole.slice(whole.indexOf("#")) : whole
  if (useMay({ ...access, path: to })) {
    return (
      <a href={to} class={props.isPrimary ? "button primary" : undefined}>
        {label}
      </a>
    )
  }
  return isPartner(operator) ? null : (
    <>
      {label}: requires the role {access.role}
    </>
  )
}

/** A sentence about missing objects, with the link to the form that creates them. */
export const Missing = (props: {
  readonly command: string | null | undefined
  readonly children: ComponentChildren
}) => (
  <>
    {props.children} {props.command != null && <FormLink command={props.command} />}
  </>
)
