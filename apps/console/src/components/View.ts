import { mayActAs, type Operator, type OperatorRole } from "@outreach/domain/operators/Operator"
import { createContext } from "preact"
import { useContext } from "preact/hooks"

export interface View {
  readonly operator: Operator
  readonly formToken: string
  /** Unix milliseconds. */
  readonly now: number
  readonly address: string
}

export const ViewContext = createContext<View | undefined>(undefined)

export const useView = (): View => useContext(ViewContext)!

/** Reports whether the operator may do what needs a role, within a component. */
export const useMayAct = (role: OperatorRole): boolean => mayActAs(useView().operator.role, role)
