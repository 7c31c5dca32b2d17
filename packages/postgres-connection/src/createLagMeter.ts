/** An hour of samples, if one is taken each second. */
const MAX_SAMPLES = 3600

/**
 * Creates a meter of how far a standby is behind. It keeps where the primary stood at which time, and finds the newest of these places that the
 * standby has replayed.
 *
 * So no standby is behind an idle primary, and one that is cut off falls behind once the primary writes.
 */
export const createLagMeter = () => {
  let samples: Array<{ readonly at: number; readonly position: number }> = []
  let server: string | undefined
  return {
    /** Adds where the primary stood at a time, in milliseconds of any clock. What another server wrote counts no more. */
    add: (at: number, primary: { readonly server: string; readonly position: number }): void => {
      if (primary.server !== server || samples.length === MAX_SAMPLES) {
        samples = primary.server === server ? samples.slice(1) : []
        server = primary.server
      }
      samples.push({ at, position: primary.position })
    },
    /** Returns how many milliseconds a standby that has replayed so much is behind at most; without such a place, at least. */
    lagAt: (at: number, replayed: number): { readonly ms: number; readonly isKnown: boolean } => {
      const newest = samples.findLast(({ position }) => position <= replayed)
      return { ms: at - (newest ?? samples[0])!.at, isKnown: newest !== undefined }
    },
  }
}
