/** Hidden fields of a form; a value that is undefined is left out. */
export const HiddenFields = (props: { readonly values: Readonly<Record<string, string | undefined>> }) => (
  <>
    {Object.entries(props.values).map(
      ([name, value]) => value !== undefined && <input key={name} type="hidden" name={name} value={value} />,
    )}
  </>
)
