/** A value of which a part is hidden, such as an e-mail address. */
export const Masked = (props: { readonly children: string }) => (
  <span class="masked" title="Hidden until it is shown">
    {props.children}
  </span>
)
