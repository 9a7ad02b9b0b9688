import { useEffect, useSyncExternalStore } from "react";
import { useConnection } from "@/api/live-context";
import { type Delivery, deliveries } from "./deliveries";

export function useDelivery(requestId: string): Delivery | null {
  return useSyncExternalStore(deliveries.watch, () => deliveries.get(requestId));
}

/** For as long as there is no connection, nothing is left on its way. */
export function useCutDeliveries(): void {
  const { state } = useConnection();
  useEffect(() => {
    if (state === "offline") deliveries.cut();
  }, [state]);
}
