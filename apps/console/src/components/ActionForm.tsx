import { mayActAs, type OperatorRole } from "@outreach/domain/operators/Operator"
import type { ComponentChildren } from "preact"
import { pathTo } from "../http/Route.ts"
import { useView } from "./View.ts"

/** A form that does something. It is left out for operators whose role may not. */
export const ActionForm = (props: {
  readonly action: { readonly path: string; readonly role: OperatorRole }
  readonly params?: Readonly<Record<string, string>>
  /** The words of the button. */
  readonly label: string
  /** The version of the record that the form shows: if it has another when the form is sent, the action is refused. */
  readonly version?: string
  /** Whether the action destroys something. */
  readonly isDangerous?: boolean
  /** The fields, and what the operator must know. */
  readonly children?: ComponentChildren
}) => {
  const { operator, formToken } = useView()
  if (!mayActAs(operator.role, props.action.role)) return null
  return (
    <form class="action" method="post" action={pathTo(props.action, props.params ?? {})}>
      <input type="hidden" name="token" value={formToken} />
      {props.version !== undefined && <input type="hidden" name="version" value={props.version} />}
      {props.children}
      <button type="submit" class={props.isDangerous ? "danger" : undefined}>
        {props.label}
      </button>
    </form>
  )
}
