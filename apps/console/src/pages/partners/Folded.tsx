import { mayActAs, type OperatorRole } from "@outreach/domain/operators/Operator"
import type { ComponentChildren } from "preact"
import { useView } from "../../components/View.ts"

/** Forms that are folded away below a title. They are left out for operators whose role may not send them. */
export const Folded = (props: {
  readonly action: { readonly role: OperatorRole }
  readonly title: ComponentChildren
  readonly children: ComponentChildren
}) => {
  const { operator } = useView()
  if (!mayActAs(operator.role, props.action.role)) return null
  return (
    <details>
      <summary>{props.title}</summary>
      {props.children}
    </details>
  )
}
