import { randomUUID } from "node:crypto"
import { type Control, fieldName, type Option } from "@outreach/backoffice/operations/Field"
import type { Access, Operator } from "@outreach/domain/operators/Operator"
import { Array as Arr, Record, Struct } from "effect"
import type { ComponentChildren } from "preact"
import { controlOf, type Inputs, takesFile } from "../view/inputs.ts"
import { type PathTexts, pathTo } from "../view/paths.ts"
import { textOf } from "../view/textOf.ts"
import { type Masking, type RejectedForm, useMay, useView } from "../view/View.ts"
import { withQuery } from "./layout.tsx"
import { Content, isolated } from "./values.tsx"

/** The values of a form by input name, without undefined values. */
type Values = Readonly<Record<string, unknown>>

/** Changes of controls by input name; false omits one. A label may contain foreign text. */
export type Controls = Readonly<
  Record<string, (Partial<Omit<Control, "label">> & { readonly label?: ComponentChildren }) | false>
>

type PathParams<P extends string> = keyof PathTexts<P> extends never
  ? { readonly params?: never }
  : { readonly params: PathTexts<P> }

/** The form of an operation: its button's label, and the texts and the version of the object that it changes. */
export interface FormOf<Found> {
  readonly label: string
  readonly texts?: (found: Found) => Values
  readonly versionOf?: (found: Found) => string
}

/** A form for an action, with controls for its inputs. Omitted if the operator's role may not run it. */
export const ActionForm = <P extends string, Found>(
  props: PathParams<P> & {
    readonly action: Access & { readonly path: P; readonly inputs: Inputs; readonly form?: FormOf<Found> }
    /** The object that an operation changes: the form shows its values. */
    readonly found?: Found
    /** Default: the operation's. */
    readonly label?: string
    readonly hidden?: Values
    readonly controls?: Controls
    readonly children?: ComponentChildren
    /** Collapses the form under a title. */
    readonly title?: ComponentChildren
  } & Emphasis,
) => {
  const { action, found, hidden, title } = props
  const { formToken, page, operator } = useView()
  const address = pathTo(action, (props.params ?? {}) as PathTexts<P>)
  const rejected = useRejected("post", address, hidden)
  if (!useMay(action)) return null
  // The action is rejected if the object has another version by then.
  const version = found && action.form?.versionOf?.(found)
  const texts = found === undefined ? {} : Record.mapKeys(action.form?.texts?.(found) ?? {}, fieldName)
  const controls = { ...Record.map(texts, (value) => ({ value })), ...props.controls }
  const fields = fieldsOf({ inputs: action.inputs, hidden, controls, rejected }, operator)
  const form = (
    <form
      class={rejected ? "action rejected" : "action"}
      method="post"
      action={address}
      encType={takesFile(action.inputs) ? "multipart/form-data" : undefined}
    >
      <Hidden values={{ token: formToken, page, submission: randomUUID(), version, ...hidden }} />
      <FormProblems rejected={rejected} fields={fields} />
      {props.children}
      <FieldGroups of={fields} rejected={rejected} />
      <button type="submit" class={emphasisOf(props)}>
        {props.label ?? action.form?.label}
      </button>
    </form>
  )
  if (title === undefined) return form
  return (
    <details open={rejected !== undefined}>
      <summary>{title}</summary>
      {form}
    </details>
  )
}

/** The button that shows a page's personal data. Omitted if it is shown. */
export const RevealForm = (
  props: Masking & { readonly label: string; readonly hidden?: Values; readonly children?: ComponentChildren },
) =>
  props.isShown ? null : <ActionForm action={props.show} {...Struct.pick(props, ["label", "hidden", "children"])} />

/** The content of an event, masked until it is revealed. */
export const MaskedContent = ({
  children,
  ...masking
}: Masking & { readonly hidden?: Values; readonly children: string }) => (
  <>
    {!masking.isShown && <p>Personal data is hidden: only the length of each value is shown.</p>}
    <Content isShown={masking.isShown}>{children}</Content>
    <RevealForm {...masking} label="Show">
      <span>Shows the unmasked content. The audit log records this view.</span>
    </RevealForm>
  </>
)

interface Emphasis {
  readonly isDangerous?: boolean
  /** Whether it is the main action of the page; at most one is. */
  readonly isPrimary?: boolean
}

const emphasisOf = ({ isPrimary = false, isDangerous = false }: Emphasis): string =>
  `${isPrimary ? "primary" : ""} ${isDangerous ? "danger" : ""}`.trim()

/** Returns the rejected form if it is this one, with the same hidden values. */
const useRejected = (method: "get" | "post", action: string, hidden: Values = {}): RejectedForm | undefined => {
  const { rejected } = useView()
  const isThis =
    rejected?.action === action &&
    rejected.values.has("token") === (method === "post") &&
    Object.entries(hidden).every(([name, value]) => value === undefined || rejected.values.get(name) === String(value))
  return isThis ? rejected : undefined
}

/** The error of a form that concerns none of its fields. It has the focus unless a field has it. */
const FormProblems = (props: {
  readonly rejected: RejectedForm | undefined
  readonly fields: ReturnType<typeof fieldsOf>
}) => {
  const { rejected, fields } = props
  if (rejected === undefined) return null
  const atInputs = fields.flatMap(({ name }) => rejected.faults[name] ?? [])
  const messages = rejected.messages.filter((message) => !atInputs.includes(message))
  return messages.length === 0 ? null : <Problems messages={messages} hasFocus={atInputs.length === 0} />
}

export const Problems = (props: { readonly messages: ReadonlyArray<string>; readonly hasFocus?: boolean }) => (
  <div class="problem" role="alert" tabIndex={-1} autofocus={props.hasFocus}>
    {props.messages.map((message) => (
      <p key={message}>{isolated(message)}</p>
    ))}
  </div>
)

/** Controls for a list's filters, with the button that applies them; empty without any. Filters without a control are kept. */
export const FilterBar = (props: {
  /** Default: the page's own path. */
  readonly action?: string
  readonly inputs: Inputs
  readonly values: Values
  readonly controls?: Controls
}) => {
  const { page, operator } = useView()
  const { action = page.split("?")[0]! } = props
  const rejected = useRejected("get", action)
  const fields = fieldsOf({ ...props, rejected }, operator)
  if (fields.length === 0) return null
  const kept = Object.entries(props.values).filter(([name]) => controlOf(props.inputs[name]!) === undefined)
  return (
    <form class={rejected ? "filters rejected" : "filters"} method="get" action={action}>
      <Hidden values={Object.fromEntries(kept)} />
      <FieldGroups of={fields} rejected={rejected} />
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

/** Returns the fields of a form with their groups. */
const fieldsOf = (
  props: {
    readonly inputs: Inputs
    readonly values?: Values
    readonly hidden?: Values | undefined
    readonly controls?: Controls | undefined
    readonly rejected: RejectedForm | undefined
  },
  { organizationId }: Operator,
) => {
  const { rejected } = props
  const firstFault = Object.keys(rejected?.faults ?? {})[0]
  return Object.entries(props.inputs).flatMap(([name, input]) => {
    const declared = controlOf(input)
    const change = props.controls?.[name]
    // An operator of one organization can't choose.
    const isLeftOut = change === false || (name === "organization" && organizationId !== null)
    if (declared === undefined || isLeftOut || props.hidden?.[name] !== undefined) return []
    const { group = "", ...control } = { ...declared, ...change }
    const typed = control.kind === "boxes" ? rejected?.values.getAll(name) : rejected?.values.get(name)
    const field = (
      <Field
        key={name}
        name={name}
        {...control}
        value={rejected === undefined ? (props.values?.[name] ?? control.value) : (typed ?? undefined)}
        fault={rejected?.faults[name]?.replace(textOf(declared.label), textOf(control.label))}
        autofocus={name === firstFault}
      />
    )
    return [{ name, group, field }]
  })
}

const FieldGroups = (props: {
  readonly of: ReturnType<typeof fieldsOf>
  readonly rejected: RejectedForm | undefined
}) => {
  if (props.rejected !== undefined) props.rejected.isShown = true
  return Object.entries(Arr.groupBy(props.of, ({ group }) => group)).map(([group, members]) => {
    const fields = members.map(({ field }) => field)
    if (group === "") return fields
    return (
      <fieldset key={group} class="group">
        <legend>{group}</legend>
        {fields}
      </fieldset>
    )
  })
}

interface FieldProps extends Omit<Control, "label" | "hint"> {
  readonly label: ComponentChildren
  readonly hint?: ComponentChildren
  readonly name: string
  readonly fault?: string | undefined
  readonly autofocus?: boolean
}

export const Field = (props: FieldProps) => {
  const { kind = "text", label, hint, options = [], value, fault, name } = props
  const faultId = fault === undefined ? undefined : `${name}-fault`
  const marks = { "aria-invalid": fault === undefined ? undefined : ("true" as const), "aria-describedby": faultId }
  const below = (
    <>
      {fault !== undefined && (
        <small class="fault" id={faultId}>
          {isolated(fault)}
        </small>
      )}
      {hint !== undefined && <small>{hint}</small>}
    </>
  )
  if (kind === "switch" && options.length === 0) {
    return (
      <div class="field">
        <CheckBox name={name} value="yes" label={label} checked={value === "yes"} {...marks} />
        {below}
      </div>
    )
  }
  if (kind === "boxes") {
    const checked: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
    return (
      <fieldset {...marks}>
        <legend>{label}</legend>
        {options.map(wordsOf).map(([each, text]) => (
          <CheckBox key={each} name={name} value={each} label={text} checked={checked.includes(each)} />
        ))}
        {below}
      </fieldset>
    )
  }
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: it holds a control.
    <label class="field">
      <span>
        {label}
        {kind === "instant" && <span data-zone> (UTC)</span>}
      </span>
      <ControlOf {...props} {...marks} />
      {below}
    </label>
  )
}

const ControlOf = ({ kind = "text", options = [], all, value, ...props }: FieldProps) => {
  const input = Struct.omit(props, ["label", "hint", "example", "fault", "isArgument", "isRepeated"])
  const text = value === undefined || value === null ? undefined : String(value)
  switch (kind) {
    case "choice":
    case "switch":
      return (
        <select {...input}>
          {all !== undefined && <option value="">{all}</option>}
          {options.map(wordsOf).map(([each, words]) => (
            <option dir="auto" key={each} value={each} selected={each === value}>
              {words}
            </option>
          ))}
        </select>
      )
    case "lines":
      return (
        <textarea rows={6} {...input}>
          {text}
        </textarea>
      )
    case "file":
      return <input type="file" {...input} />
    case "date":
      return <input type="date" {...input} value={text} />
    case "instant":
      return <input type="datetime-local" step="1" data-instant {...input} value={text?.replace(/(\.\d+)?Z$/, "")} />
    default:
      return <input type="text" autocomplete="off" {...input} value={text} />
  }
}

const wordsOf = (option: Option): readonly [value: string, text: string] => {
  if (typeof option === "string") return [option, option]
  return "id" in option ? [option.id, option.name] : option
}

const CheckBox = ({
  label,
  ...input
}: {
  readonly label: ComponentChildren
  readonly name: string
  readonly value: string
  readonly checked: boolean
  readonly "aria-invalid"?: "true" | undefined
  readonly "aria-describedby"?: string | undefined
}) => (
  <label>
    <input type="checkbox" {...input} />
    <span>{label}</span>
  </label>
)

/** A button to the confirmation page. Omitted if the operator's role may not run the action. */
export const ConfirmLink = <P extends string>(
  props: PathParams<P> & {
    readonly page: Access & { readonly path: P; readonly label: string }
    readonly query?: Values
    /** Default: the page's. */
    readonly label?: string
  } & Emphasis,
) =>
  useMay(props.page) ? (
    <a
      class={`button ${emphasisOf(props)}`}
      href={withQuery(pathTo(props.page, (props.params ?? {}) as PathTexts<P>), props.query ?? {})}
    >
      {props.label ?? props.page.label}…
    </a>
  ) : null
