import type { OrganizationId } from "@outreach/domain/Identifier"
import { Choice } from "./Field.tsx"
import { useView } from "./View.ts"

/** The choice of an organization for a filter; an operator of one organization has none to choose. */
export const OrganizationChoice = (props: {
  readonly organizations: ReadonlyArray<{ readonly id: OrganizationId; readonly name: string }>
  readonly value: OrganizationId | undefined
  /** What no choice means. Without it, one must be chosen. */
  readonly all?: string
}) => {
  const { operator } = useView()
  if (operator.organizationId !== null) return null
  return (
    <Choice
      name="organization"
      label="Organization"
      value={props.value}
      options={[
        ...(props.all === undefined ? [] : [["", props.all] as const]),
        ...props.organizations.map(({ id, name }) => [id, name] as const),
      ]}
    />
  )
}
