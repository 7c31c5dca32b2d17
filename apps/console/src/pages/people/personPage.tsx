import { RecipientId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { textSchema } from "@outreach/domain/textSchema"
import type { TimelinePosition } from "@outreach/postgres/recipients/TimelineReader"
import { Effect } from "effect"
import { ActionForm } from "../../components/ActionForm.tsx"
import { required } from "../../http/inputs.ts"
import { defineAction, definePage } from "../../http/Route.ts"
import { On } from "./personActions.tsx"
import { personContent } from "./personContent.tsx"

/** Where the next page begins, as the link to it has it. */
const Position = textSchema<TimelinePosition>("the end of another page, from its link", (text) => {
  const [, at, key] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)~([0-9a-f]{32})$/.exec(text) ?? []
  return at === undefined || key === undefined ? undefined : { at: at as Timestamp, key }
})

/** One clinician in one organization, over all campaigns. The address holds a recipient's id, and never an NPI or an e-mail address. */
export const personPage = definePage({
  path: "/people/:id",
  section: "people",
  role: "viewer",
  params: { id: RecipientId },
  query: { before: Position },
  read: ({ id, before }) => personContent(id, { before, actions: <ShowForm id={id} /> }),
})

/** Shows a clinician's NPI and addresses. */
export const show = defineAction({
  path: "/people/:id/show",
  section: "people",
  role: "operator",
  command: "recipients find",
  params: { id: RecipientId },
  fields: { reveal: required(On) },
  run: ({ id }) => Effect.map(personContent(id, { reveals: true }), (page) => ({ page })),
})

const ShowForm = ({ id }: { readonly id: RecipientId }) => (
  <ActionForm action={show} params={{ id }} label="Show NPI and addresses">
    <input type="hidden" name="reveal" value="true" />
  </ActionForm>
)
