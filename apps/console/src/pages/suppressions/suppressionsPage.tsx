import { Effect } from "effect"
import { ActionForm } from "../../components/ActionForm.tsx"
import { defineAction, definePage } from "../../http/Route.ts"
import { type SuppressionFilters, suppressionFilters, toFields } from "./SuppressionFilters.tsx"
import { suppressionsContent } from "./suppressionsContent.tsx"

/** Whom programs and organizations must not write to. */
export const suppressionsPage = definePage({
  path: "/suppressions",
  section: "suppressions",
  role: "viewer",
  params: {},
  query: suppressionFilters,
  read: (given, { operator }) => suppressionsContent(given, { operator, actions: <ShowForm given={given} /> }),
})

/** Shows the values of a page of the list. */
export const showSuppressions = defineAction({
  path: "/suppressions/show",
  section: "suppressions",
  role: "operator",
  command: "suppressions list",
  params: {},
  fields: suppressionFilters,
  run: (given, { operator }) =>
    Effect.map(suppressionsContent(given, { operator, reveals: true }), (page) => ({ page })),
})

const ShowForm = ({ given }: { readonly given: SuppressionFilters }) => (
  <ActionForm action={showSuppressions} label="Show NPIs and addresses, to lift one">
    {Object.entries(toFields(given)).map(([name, value]) => (
      <input key={name} type="hidden" name={name} value={value} />
    ))}
  </ActionForm>
)
