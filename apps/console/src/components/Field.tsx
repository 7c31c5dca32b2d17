import type { ComponentChildren } from "preact"

interface FieldProps {
  readonly name: string
  readonly label: ComponentChildren
  /** What the value must be, below the field. */
  readonly hint?: string
}

/** A labelled text field of a form. */
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
  const { label, hint, ...input } = props
  return (
    <label class="field">
      <span>{label}</span>
      <input type="text" autocomplete="off" {...input} />
      {hint !== undefined && <small>{hint}</small>}
    </label>
  )
}

/** A labelled choice of a form. An empty value stands for none. */
export const Choice = (
  props: FieldProps & {
    readonly value?: string | undefined
    readonly options: ReadonlyArray<readonly [value: string, text: string]>
  },
) => (
  <label class="field">
    <span>{props.label}</span>
    <select name={props.name}>
      {props.options.map(([value, text]) => (
        <option dir="auto" key={value} value={value} selected={value === (props.value ?? "")}>
          {text}
        </option>
      ))}
    </select>
    {props.hint !== undefined && <small>{props.hint}</small>}
  </label>
)

/** A labelled check box of a form. */
export const CheckBox = (props: FieldProps & { readonly value: string; readonly checked?: boolean }) => (
  <label class="field check">
    <input type="checkbox" name={props.name} value={props.value} checked={props.checked} />
    <span>{props.label}</span>
    {props.hint !== undefined && <small>{props.hint}</small>}
  </label>
)

/** Fields that filter a list, with the button that applies them. */
export const FilterBar = (props: { readonly action: string; readonly children: ComponentChildren }) => (
  <form class="filters" method="get" action={props.action}>
    {props.children}
    <button type="submit">Filter</button>
    <a href={props.action}>Clear</a>
  </form>
)
