import { Field } from "../../components/forms.tsx"

/** The field for the reason of a change, which the audit log records. */
export const ReasonField = () => (
  <Field
    name="reason"
    label="Reason"
    required
    maxLength={200}
    size={42}
    hint="For the audit log: no address and no NPI."
  />
)
