import { Context, type Effect } from "effect"

/** The deliveries that arrived, kept by the day on which they did. */
export class DeliveryHistory extends Context.Service<
  DeliveryHistory,
  {
    /**
     * Creates room for today and the week to come, and forgets the days that are more than so many past, each as a whole; days are UTC.
     *
     * Several processes may do so at once: one does it, the others leave it to that one. Answers how many days came and went.
     */
    keep(days: number): Effect.Effect<{ readonly added: number; readonly dropped: number }>
  }
>()("domain/deliveries/DeliveryHistory") {}
