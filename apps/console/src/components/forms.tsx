import type { OrganizationId } from "@outreach/domain/Identifier"
import type { OperatorRole } from "@outreach/domain/operators/Operator"
import { type ComponentChildren, createContext } from "preact"
import { useContext } from "preact/hooks"
import { type PathTexts, pathTo } from "../http/Route.ts"
import { useMayAct, useView } from "./View.ts"

/** The values of a form by the names of its fields; what is undefined is left out. */
type Values = Readonly<Record<string, unknown>>

/** The values that the fields of a form show. */
const FormValues = createContext<Values>({})

/** The parameters of an action's path, if it has any. */
type PathParams<P extends string> = keyof PathTexts<P> extends never
  ? { readonly params?: never }
  : { readonly params: PathTexts<P> }

/** A form that does something. It is left out for operators whose role may not. */
export const ActionForm = <P extends string>(
  props: PathParams<P> & {
    readonly action: { readonly path: P; readonly role: OperatorRole }
    /** The words of the button. */
    readonly label: string
    /** The version of the record that the form shows: if it has another when the form is sent, the action is refused. */
    readonly version?: string
    /** Whether the action destroys something. */
    readonly isDangerous?: boolean
    /** What the form sends besides its fields. */
    readonly hidden?: Values
    /** The fields, and what the operator must know. */
    readonly children?: ComponentChildren
  },
) => {
  const { formToken } = useView()
  const params = (props.params ?? {}) as PathTexts<P>
  if (!useMayAct(props.action.role)) return null
  return (
    <form class="action" method="post" action={pathTo(props.action, params)}>
      <Hidden values={{ token: formToken, version: props.version, ...props.hidden }} />
      {props.children}
      <button type="submit" class={props.isDangerous ? "danger" : undefined}>
        {props.label}
      </button>
    </form>
  )
}

/** Fields that filter a list, with the button that applies them. */
export const FilterBar = (props: {
  readonly action: string
  /** What the list is filtered by now: each field shows the value of its name. */
  readonly values: Values
  /** What stays when the filters change. */
  readonly hidden?: Values
  readonly children: ComponentChildren
}) => (
  <form class="filters" method="get" action={props.action}>
    <Hidden values={props.hidden ?? {}} />
    <FormValues.Provider value={props.values}>{props.children}</FormValues.Provider>
    <button type="submit">Filter</button>
    <a href={props.action}>Clear</a>
  </form>
)

const Hidden = ({ values }: { readonly values: Values }) => (
  <>
    {Object.entries(values).map(
      ([name, value]) => value !== undefined && <input key={name} type="hidden" name={name} value={String(value)} />,
    )}
  </>
)

/** Forms that are folded away below a title. They are left out for operators whose role may not send them. */
export const Folded = (props: {
  readonly action: { readonly role: OperatorRole }
  readonly title: ComponentChildren
  readonly children: ComponentChildren
}) =>
  useMayAct(props.action.role) ? (
    <details>
      <summary>{props.title}</summary>
      {props.children}
    </details>
  ) : null

interface FieldProps {
  readonly name: string
  readonly label: ComponentChildren
  /** What the value must be, below the field. */
  readonly hint?: string | undefined
}

export const Field = (
  props: FieldProps & {
    /** The keyboard that a telephone shows. Default `text`. */
    readonly inputmode?: "numeric" | "email" | "url"
    readonly value?: string | undefined
    readonly required?: boolean
    readonly placeholder?: string
    readonly size?: number
    readonly maxLength?: number
  },
) => {
  const { label, hint, value = useContext(FormValues)[props.name], ...input } = props
  return (
    <label class="field">
      <span>{label}</span>
      <input type="text" autocomplete="off" {...input} value={value === undefined ? undefined : String(value)} />
      {hint !== undefined && <small>{hint}</small>}
    </label>
  )
}

export const Choice = (
  props: FieldProps & {
    readonly value?: string | undefined
    /** The values; one that has words of its own stands with them. */
    readonly options: ReadonlyArray<string | readonly [value: string, text: string]>
    /** The words for no choice. Without them, one must be chosen. */
    readonly all?: string | undefined
  },
) => {
  const { value = useContext(FormValues)[props.name] ?? "" } = props
  const none = props.all === undefined ? [] : [["", props.all] as const]
  const options = props.options.map((option) => (typeof option === "string" ? ([option, option] as const) : option))
  return (
    <label class="field">
      <span>{props.label}</span>
      <select name={props.name}>
        {[...none, ...options].map(([each, text]) => (
          <option dir="auto" key={each} value={each} selected={each === value}>
            {text}
          </option>
        ))}
      </select>
      {props.hint !== undefined && <small>{props.hint}</small>}
    </label>
  )
}

/** The choice of an organization for a filter; an operator of one organization has none to choose. */
export const OrganizationChoice = (props: {
  readonly organizations: ReadonlyArray<{ readonly id: OrganizationId; readonly name: string }>
  /** The words for no choice. Without them, one must be chosen. */
  readonly all?: string
}) =>
  useView().operator.organizationId === null ? (
    <Choice
      name="organization"
      label="Organization"
      all={props.all}
      options={props.organizations.map(({ id, name }) => [id, name])}
    />
  ) : null

export const CheckBox = (props: FieldProps & { readonly value: string; readonly checked?: boolean }) => (
  <label class="field check">
    <input type="checkbox" name={props.name} value={props.value} checked={props.checked} />
    <span>{props.label}</span>
    {props.hint !== undefined && <small>{props.hint}</small>}
  </label>
)

/** A check box for each of several values of one name. */
export const CheckBoxes = (props: {
  readonly name: string
  readonly legend: string
  readonly values: ReadonlyArray<string>
  readonly checked?: ReadonlyArray<string> | undefined
}) => (
  <fieldset>
    <legend>{props.legend}</legend>
    {props.values.map((value) => (
      <CheckBox
        key={value}
        name={props.name}
        label={value}
        value={value}
        checked={props.checked?.includes(value) ?? false}
      />
    ))}
  </fieldset>
)
