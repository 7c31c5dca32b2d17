import { randomUUID } from "node:crypto"
import { type Control, fieldName, type Option } from "@outreach/backoffice/operations/Field"
import type { Access } from "@outreach/domain/operators/Operator"
import { isAgo } from "@outreach/domain/Timestamp"
import { Array as Arr, Record, Struct } from "effect"
import type { ComponentChildren, ComponentProps } from "preact"
import { controlOf, type Inputs, takesFile, type Values } from "../view/inputs.ts"
import { type PathTexts, pathTo } from "../view/paths.ts"
import { type Masking, useMay, useView } from "../view/View.ts"
import { creatorOf, Missing } from "./FormLink.tsx"
import { withQuery } from "./layout.tsx"
import { Content, isolated, textOf } from "./values.tsx"

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
    /** The element's id, for buttons outside of the form. */
    readonly id?: string
    /** Default: the operation's. */
    readonly label?: string
    readonly hidden?: Values
    readonly controls?: Controls
    readonly children?: ComponentChildren
    /** Collapses the form under a title, unless `isOpen`. */
    readonly title?: ComponentChildren
    readonly isOpen?: boolean | undefined
  } & Emphasis,
) => {
  const { action, found, label = action.form?.label, children, ...others } = props
  const { formToken, page } = useView()
  if (!useMay(action)) return null
  // The action is rejected if the object has another version by then.
  const version = found && action.form?.versionOf?.(found)
  const texts = (found && action.form?.texts?.(found)) ?? {}
  return (
    <Form
      {...others}
      method="post"
      address={pathTo(action, (props.params ?? {}) as PathTexts<P>)}
      inputs={action.inputs}
      values={Record.mapKeys(texts, fieldName)}
      buttons={
        <button type="submit" class={emphasisOf(props)}>
          {label}
        </button>
      }
    >
      <Hidden values={{ token: formToken, page, submission: randomUUID(), version, ...props.hidden }} />
      {children}
    </Form>
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

export const Problems = (props: { readonly messages: ReadonlyArray<string>; readonly hasFocus?: boolean }) => (
  <div class="problem" role="alert" tabIndex={-1} autofocus={props.hasFocus}>
    {props.messages.map((message) => (
      <p key={message}>{isolated(message)}</p>
    ))}
  </div>
)

/** Controls for a list's filters, with the button that applies them; empty without any. A narrow screen shows them behind a button. */
export const FilterBar = (props: {
  /** Default: the page's own path. */
  readonly action?: string
  readonly inputs: Inputs
  readonly values: Values
  readonly controls?: Controls
}) => {
  const { page } = useView()
  const { action = page.split("?")[0]!, ...others } = props
  // The page itself chooses these values.
  const hidden = Record.filter(props.values, (_, name) => props.controls?.[name] === false)
  const buttons = (
    <>
      <button type="submit">Filter</button>
      <a href={action}>Clear</a>
    </>
  )
  const active = Object.values(props.values).filter((value) => value !== undefined && value !== "").length
  const title = active === 0 ? "Filters" : `Filters (${active})`
  return (
    <Form {...others} method="get" address={action} title={title} buttons={buttons}>
      <Hidden values={hidden} />
    </Form>
  )
}

const Hidden = ({ values }: { readonly values: Values }) => (
  <>
    {Object.entries(values).map(
      ([name, value]) => value !== undefined && <input key={name} type="hidden" name={name} value={String(value)} />,
    )}
  </>
)

/** A form with a field for each input that isn't hidden. If it was rejected, it shows the entered values and the errors. */
const Form = (props: {
  readonly id?: string | undefined
  readonly method: "get" | "post"
  readonly address: string
  readonly inputs: Inputs
  readonly values: Values
  readonly controls?: Controls | undefined
  /** Given values, which distinguish forms with the same address. */
  readonly hidden?: Values | undefined
  readonly title?: ComponentChildren
  readonly isOpen?: boolean | undefined
  readonly children?: ComponentChildren
  readonly buttons: ComponentChildren
}) => {
  const { method, address, inputs, values, controls = {}, hidden = {}, title } = props
  const view = useView()
  const isRejected =
    view.rejected?.action === address &&
    view.rejected.values.has("token") === (method === "post") &&
    Object.entries(hidden).every(
      ([name, value]) => value === undefined || view.rejected?.values.get(name) === String(value),
    )
  const rejected = isRejected ? view.rejected : undefined
  const { faults = {}, messages = [] } = rejected?.error ?? {}
  /** The required choices without options, with the commands that create them. */
  const missing: Array<{ readonly label: string; readonly command: string | undefined }> = []
  const fields = Object.entries(inputs).flatMap(([name, input]) => {
    const declared = controlOf(input)
    const change = controls[name]
    // An operator of one organization can't choose.
    const isLeftOut = change === false || (name === "organization" && view.operator.organizationId !== null)
    if (declared === undefined || isLeftOut || hidden[name] !== undefined) return []
    const { group = "", ...control } = { ...declared, value: values[name] ?? declared.value, ...change }
    if (control.kind === "choice" && (control.options ?? []).length === 0) {
      if (!control.required) return []
      missing.push({ label: declared.label.toLowerCase(), command: creatorOf(input) })
    }
    const typed = control.kind === "boxes" ? rejected?.values.getAll(name) : rejected?.values.get(name)
    const field = (
      <Field
        key={name}
        name={name}
        {...control}
        value={rejected === undefined ? control.value : (typed ?? undefined)}
        fault={faults[name]?.replace(declared.label, textOf(control.label))}
        autofocus={name === Object.keys(faults)[0]}
      />
    )
    return [{ name, group, field }]
  })
  if (method === "get" && fields.length === 0) return null
  if (rejected !== undefined && missing.length === 0) rejected.isShown = true
  const atFields = fields.flatMap(({ name }) => faults[name] ?? [])
  const others = messages.filter((message) => !atFields.includes(message))
  const kind = method === "post" ? "action" : "filters"
  const [absent] = missing
  const form = absent ? (
    <p class="empty">
      <Missing command={absent.command}>There is no {absent.label} to choose.</Missing>
    </p>
  ) : (
    <form
      id={props.id}
      class={isRejected ? `${kind} rejected` : kind}
      method={method}
      action={address}
      encType={takesFile(inputs) ? "multipart/form-data" : undefined}
    >
      {others.length > 0 && <Problems messages={others} hasFocus={atFields.length === 0} />}
      {props.children}
      {Object.entries(Arr.groupBy(fields, ({ group }) => group)).map(([group, members]) => {
        const content = members.map(({ field }) => field)
        if (group === "") return content
        return (
          <fieldset key={group} class="group">
            <legend>{group}</legend>
            {content}
          </fieldset>
        )
      })}
      <div class="buttons">{props.buttons}</div>
    </form>
  )
  if (title === undefined) return form
  return (
    <details class={method === "get" ? "filtering" : undefined} open={isRejected || props.isOpen}>
      <summary class="button">{title}</summary>
      {form}
    </details>
  )
}

interface FieldProps extends Omit<Control, "label" | "hint"> {
  readonly label: ComponentChildren
  readonly hint?: ComponentChildren
  readonly name: string
  readonly fault?: string | undefined
  readonly autofocus?: boolean
}

export const Field = (props: FieldProps) => {
  const { kind = "text", label, hint, options = [], value, fault, name, size = 0 } = props
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
        <CheckBox name={name} value="yes" checked={value === "yes"} {...marks}>
          {label}
        </CheckBox>
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
          <CheckBox key={each} name={name} value={each} checked={checked.includes(each)}>
            {text}
          </CheckBox>
        ))}
        {below}
      </fieldset>
    )
  }
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: it holds a control.
    <label class={size > 32 ? "field wide" : "field"}>
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
      // A period before now stays relative.
      if (isAgo(text)) return <input type="text" autocomplete="off" {...input} value={text} />
      return <input type="datetime-local" step="1" data-instant {...input} value={text?.replace(/(\.\d+)?Z$/, "")} />
    default:
      return <input type="text" autocomplete="off" {...input} value={text} />
  }
}

const wordsOf = (option: Option): readonly [value: string, text: string] => {
  if (typeof option === "string") return [option, option]
  return "id" in option ? [option.id, option.name] : option
}

type CheckBoxProps = Pick<
  ComponentProps<"input">,
  "name" | "value" | "checked" | "aria-invalid" | "aria-describedby" | "children"
>

const CheckBox = ({ children, ...input }: CheckBoxProps) => (
  <label>
    <input type="checkbox" {...input} />
    <span>{children}</span>
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
