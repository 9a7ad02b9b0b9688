import type { Translated } from "@/i18n/messages";

export const en = {};

export const zh: Translated<typeof en> = {};
