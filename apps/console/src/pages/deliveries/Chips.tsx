interface Chip {
  readonly text: string
  readonly address: string
  readonly isChosen: boolean
}

/** Links that narrow a list. */
export const Chips = (props: { readonly label: string; readonly all: Chip; readonly chips: ReadonlyArray<Chip> }) => (
  <nav aria-label={props.label}>
    <ul class="chips">
      {[props.all, ...props.chips].map(({ text, address, isChosen }) => (
        <li key={text}>
          <a href={address} aria-current={isChosen ? "true" : undefined}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  </nav>
)
