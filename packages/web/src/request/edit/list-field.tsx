import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Wrong } from "../forms/agent-text";
import styles from "./edit.module.css";
import { useMisfit } from "./edit-context";
import { FieldBlocks } from "./field-blocks";
import { type FieldProps, FieldView } from "./field-view";
import { blank, type Field } from "./fields";
import { under } from "./paths";

export function ListField({ name, path, field, value, onChange }: FieldProps<Extract<Field, { type: "list" }>>) {
  const t = useTranslations("request.edit");
  const items = value as unknown[];
  return (
    <div className={styles.nested}>
      <FieldBlocks
        items={items}
        draw={(item, place) => (
          <div key={place} className={styles.item}>
            <span className={styles.note}>{t("item", { place: place + 1 })}</span>
            <Button
              look="quiet"
              className={styles.remove}
              onClick={() => onChange(items.filter((_, at) => at !== place))}
            >
              {t("remove")}
            </Button>
            <div className={styles.within}>
              <FieldView
                name={`${name} ${place + 1}`}
                path={under(path, place)}
                field={field.item}
                value={item}
                onChange={(changed) => onChange(items.map((one, at) => (at === place ? changed : one)))}
              />
              <ItemMisfit path={under(path, place)} />
            </div>
          </div>
        )}
      />
      <Button className={styles.add} onClick={() => onChange([...items, blank(field.item)])}>
        {t("addItem")}
      </Button>
    </div>
  );
}

function ItemMisfit({ path }: { path: string }) {
  const t = useTranslations("request.edit.misfit");
  const misfit = useMisfit(path);
  return <Wrong>{misfit && (misfit.message ?? t(misfit.reason))}</Wrong>;
}
