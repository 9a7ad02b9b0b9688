import { useSyncExternalStore } from "react";
import { type Delivery, deliveries } from "./deliveries";

export function useDelivery(requestId: string): Delivery | null {
  return useSyncExternalStore(deliveries.watch, () => deliveries.get(requestId));
}
