/** Creates one metric for each value of a label, in lower case. */
export const metricsByLabel = <Value extends string, M>(
  label: string,
  values: ReadonlyArray<Value>,
  create: (attributes: Readonly<Record<string, string>>) => M,
): Readonly<Record<Value, M>> =>
  Object.fromEntries(values.map((value) => [value, create({ [label]: value.toLowerCase() })])) as Record<Value, M>
