import { type Access, mayUse, type Operator } from "@outreach/domain/operators/Operator"
import { createContext } from "preact"
import { useContext } from "preact/hooks"
import type { PageError } from "../http/PageError.ts"
import type { Inputs } from "./inputs.ts"
import { isDeploymentWide, type Section } from "./paths.ts"

/** The counts next to sections with lists of work. */
export type OpenTexts = Partial<Readonly<Record<Section, string>>>

/** A rejected form: its page is shown again with the entered values. */
interface RejectedForm {
  /** The submitted URL. */
  readonly action: string
  readonly values: URLSearchParams
  readonly error: PageError
  /** Whether the page has shown the form with its errors. */
  isShown: boolean
}

/** Whether a page shows its masked personal data, and the action that shows it. */
export interface Masking {
  readonly isShown: boolean
  readonly show: Access & { readonly path: string; readonly inputs: Inputs }
}

export interface View {
  readonly operator: Operator
  readonly formToken: string
  /** Unix milliseconds. */
  readonly now: number
  /** The page that shows a rejected form again: the URL itself, or for an action below a page, the page's URL. */
  readonly page: string
  readonly deployment: string
  readonly section?: Section
  readonly notice?: string | undefined
  /** The number of open items of sections with lists of work. */
  readonly open?: OpenTexts
  readonly rejected?: RejectedForm | undefined
}

export const ViewContext = createContext<View | undefined>(undefined)

export const useView = (): View => useContext(ViewContext)!

export const useMay = (route: Access & { readonly path: string }): boolean => {
  const { operator } = useView()
  return mayUse(operator, route) && (operator.organizationId === null || !isDeploymentWide(route))
}
