import { mayActAs } from "@outreach/domain/operators/Operator"
import { ActionForm } from "../../components/ActionForm.tsx"
import { Choice, Field } from "../../components/Field.tsx"
import { useView } from "../../components/View.ts"
import { exportPerson, lift, planErasureOf, suppress } from "./personActions.tsx"
import type { Person } from "./personContent.tsx"

/** What an operator can do with a clinician. */
export const PersonForms = (props: {
  readonly person: Person
  /** Of programs, by their ids. */
  readonly names: ReadonlyMap<string, string>
}) => {
  const { operator } = useView()
  const { recipient, recipients, suppressions } = props.person
  if (!mayActAs(operator.role, "operator")) return null
  const params = { id: recipient.id }
  const programs = [...new Set(recipients.map(({ programId }) => programId))]
  const lifted = [...new Set(suppressions.map(({ programId }) => programId))]
  const whole = ["", "The whole organization"] as const
  return (
    <section>
      <h2>Actions</h2>
      <ActionForm action={suppress} params={params} label="Suppress">
        <Choice
          name="program"
          label="Never write to the clinician again in"
          options={[whole, ...programs.map((id) => [id, props.names.get(id) ?? id] as const)]}
        />
        <Reason />
      </ActionForm>
      {lifted.length > 0 && (
        <ActionForm action={lift} params={params} label="Lift the suppression">
          <Choice
            name="program"
            label="Write to the clinician again in"
            hint="In a program, this lifts what binds the whole organization as well."
            options={lifted.map((id) => (id === null ? whole : ([id, props.names.get(id) ?? id] as const)))}
          />
          <Reason />
        </ActionForm>
      )}
      <div class="actions">
        <ActionForm action={exportPerson} params={params} label="Export everything as JSON" />
        <ActionForm action={planErasureOf} params={params} label="Erase: count first what is held" isDangerous>
          <input type="hidden" name="dry-run" value="true" />
        </ActionForm>
      </div>
    </section>
  )
}

const Reason = () => (
  <Field
    name="reason"
    label="Reason"
    required
    maxLength={200}
    size={42}
    hint="For the audit log: no address and no NPI."
  />
)
