import { useTranslations } from "use-intl";
import styles from "./edit.module.css";
import { type FieldProps, FieldView } from "./field-view";
import { blank, type Field, fits } from "./fields";

type Either = Extract<Field, { type: "either" }>;

/** One of several types, most often something or null. */
export function EitherField({ field, value, onChange, ...rest }: FieldProps<Either>) {
  const t = useTranslations("request.edit");
  // A number that is being typed is a text for a while: it stays the number's.
  const found = field.variants.findIndex((variant) => fits(variant, value));
  const place = found >= 0 ? found : field.variants.findIndex((variant) => variant.type === "number");
  const variant = field.variants[place] ?? field.variants[0];
  if (!variant) return null;
  const choose = (chosen: number) => {
    const next = field.variants[chosen];
    if (next) onChange(blank(next));
  };
  return (
    <div className={styles.either}>
      <select aria-label={t("kind")} value={place} onChange={(event) => choose(Number(event.target.value))}>
        {field.variants.map((one, at) => (
          <option key={one.type} value={at}>
            {one.type === "raw" || one.type === "either" ? t("json") : t(`kinds.${one.type}`)}
          </option>
        ))}
      </select>
      <FieldView {...rest} field={variant} value={value} onChange={onChange} />
    </div>
  );
}
