import { formatCount } from "../../components/format.ts"
import { Chips, withQuery } from "../../components/lists.tsx"

/** Links that narrow a list to dead letters whose last attempt had a status. */
export const StatusChips = (props: {
  readonly label: string
  /** How many dead letters have each status; null for those without one. */
  readonly statuses: ReadonlyArray<{ readonly status: number | null; readonly open: number }>
  readonly chosen: number | undefined
  readonly address: string
  /** What a status needs besides itself in the query. */
  readonly needs?: Readonly<Record<string, string>>
}) =>
  props.statuses.length === 0 ? null : (
    <Chips
      label={props.label}
      chips={[
        {
          text: "Any status",
          to: withQuery(props.address, { status: undefined }),
          isChosen: props.chosen === undefined,
        },
        ...props.statuses.map(
          ({ status, open }) =>
            status !== null && {
              text: `${status}: ${formatCount(open)}`,
              to: withQuery(props.address, { status, ...props.needs }),
              isChosen: status === props.chosen,
            },
        ),
      ]}
    />
  )
