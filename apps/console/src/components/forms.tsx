import type { Access } from "@outreach/domain/operators/Operator"
import type { ComponentChildren } from "preact"
import { type Control, controlOf, type Inputs, type Option } from "../http/inputs.ts"
import { type PathTexts, pathTo } from "../http/Route.ts"
import { withQuery } from "./layout.tsx"
import { useMay, useView } from "./values.tsx"

/** The values of a form by the names of its inputs; what is undefined is left out. */
type Values = Readonly<Record<string, unknown>>

export type Controls = Readonly<Record<string, Partial<Control> | false>>

type PathParams<P extends string> = keyof PathTexts<P> extends never
  ? { readonly params?: never }
  : { readonly params: PathTexts<P> }

/** A form that does something, with the controls of the action's inputs. It is left out for operators whose role may not. */
export const ActionForm = <P extends string>(
  props: PathParams<P> & {
    readonly action: Access & { readonly path: P; readonly inputs: Inputs }
    readonly label: string
    /** The version of the record that the form shows: if it has another when the form is sent, the action is refused. */
    readonly version?: string
    readonly isDangerous?: boolean
    readonly hidden?: Values
    readonly controls?: Controls
    readonly children?: ComponentChildren
  },
) => {
  const { formToken } = useView()
  const params = (props.params ?? {}) as PathTexts<P>
  if (!useMay(props.action)) return null
  return (
    <form class="action" method="post" action={pathTo(props.action, params)}>
      <Hidden values={{ token: formToken, version: props.version, ...props.hidden }} />
      {props.children}
      <Fields inputs={props.action.inputs} hidden={props.hidden} controls={props.controls} />
      <button type="submit" class={props.isDangerous ? "danger" : undefined}>
        {props.label}
      </button>
    </form>
  )
}

/** The controls of a list's inputs, with the button that applies them. What the list is filtered by without a control stays. */
export const FilterBar = (props: {
  /** Default the page's own path. */
  readonly action?: string
  readonly inputs: Inputs
  readonly values: Values
  readonly controls?: Controls
}) => {
  const { address } = useView()
  const { action = address.split("?")[0]! } = props
  const kept = Object.entries(props.values).filter(([name]) => controlOf(props.inputs[name]!) === undefined)
  return (
    <form class="filters" method="get" action={action}>
      <Hidden values={Object.fromEntries(kept)} />
      <Fields {...props} />
      <button type="submit">Filter</button>
      <a href={action}>Clear</a>
    </form>
  )
}

const Hidden = ({ values }: { readonly values: Values }) => (
  <>
    {Object.entries(values).map(
      ([name, value]) => value !== undefined && <input key={name} type="hidden" name={name} value={String(value)} />,
    )}
  </>
)

const Fields = (props: {
  readonly inputs: Inputs
  readonly values?: Values
  readonly hidden?: Values | undefined
  readonly controls?: Controls | undefined
}) => {
  const isBound = useView().operator.organizationId !== null
  return (
    <>
      {Object.entries(props.inputs).map(([name, input]) => {
        const declared = controlOf(input)
        const change = props.controls?.[name]
        // An operator of one organization has none to choose.
        const isLeftOut = change === false || (name === "organization" && isBound)
        if (declared === undefined || isLeftOut || props.hidden?.[name] !== undefined) return null
        const control = { ...declared, ...change }
        return <Field key={name} name={name} {...control} value={props.values?.[name] ?? control.value} />
      })}
    </>
  )
}

const Field = (props: Control & { readonly name: string }) => {
  const { kind = "text", label, hint, options = [], value, all, ...input } = props
  if (kind === "boxes") {
    const checked = Array.isArray(value) ? value : []
    return (
      <fieldset>
        <legend>{label}</legend>
        {options.map(wordsOf).map(([each, text]) => (
          <CheckBox key={each} name={input.name} value={each} label={text} checked={checked.includes(each)} />
        ))}
      </fieldset>
    )
  }
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: it holds one of two controls.
    <label class="field">
      <span>{label}</span>
      {kind === "text" ? (
        <input type="text" autocomplete="off" {...input} value={value === undefined ? undefined : String(value)} />
      ) : (
        <select name={input.name}>
          {all !== undefined && <option value="">{all}</option>}
          {options.map(wordsOf).map(([each, text]) => (
            <option dir="auto" key={each} value={each} selected={each === value}>
              {text}
            </option>
          ))}
        </select>
      )}
      {hint !== undefined && <small>{hint}</small>}
    </label>
  )
}

const wordsOf = (option: Option): readonly [value: string, text: string] => {
  if (typeof option === "string") return [option, option]
  return "id" in option ? [option.id, option.name] : option
}

const CheckBox = (props: {
  readonly name: string
  readonly value: string
  readonly label: ComponentChildren
  readonly checked?: boolean
}) => (
  <label class="field check">
    <input type="checkbox" name={props.name} value={props.value} checked={props.checked} />
    <span>{props.label}</span>
  </label>
)

/** A button that leads to the page that asks before something is done. It is left out for operators whose role may not. */
export const AskFirst = <P extends string>(
  props: PathParams<P> & {
    readonly page: Access & { readonly path: P }
    readonly query?: Values
    readonly label: string
  },
) =>
  useMay(props.page) ? (
    <a class="button" href={withQuery(pathTo(props.page, (props.params ?? {}) as PathTexts<P>), props.query ?? {})}>
      {props.label}…
    </a>
  ) : null

/** Forms that are folded away below a title. They are left out for operators whose role may not send them. */
export const Folded = (props: {
  readonly action: Access
  readonly title: ComponentChildren
  readonly children: ComponentChildren
}) =>
  useMay(props.action) ? (
    <details>
      <summary>{props.title}</summary>
      {props.children}
    </details>
  ) : null
