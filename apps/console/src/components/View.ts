import { mayActAs, type Operator, type OperatorRole } from "@outreach/domain/operators/Operator"
import { createContext } from "preact"
import { useContext } from "preact/hooks"

/** What components know of the request that they are rendered for. */
export interface View {
  readonly operator: Operator
  /** What each form carries. */
  readonly formToken: string
  /** Unix milliseconds. */
  readonly now: number
  /** The path and the query of the page. */
  readonly address: string
}

export const ViewContext = createContext<View | undefined>(undefined)

/** Returns the request's view, within a component. */
export const useView = (): View => useContext(ViewContext)!

/** Reports whether the operator may do what needs a role, within a component. */
export const useMayAct = (role: OperatorRole): boolean => mayActAs(useView().operator.role, role)
