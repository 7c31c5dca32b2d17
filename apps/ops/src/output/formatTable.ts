import Table from "cli-table3"

const BARE = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
}

/** Lays out rows in aligned columns, without lines or colours, so that they also serve `awk`. */
export const formatTable = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const table = new Table({
    head: [...head],
    chars: BARE,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  })
  table.push(...rows.map((row) => [...row]))
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
}
