"""Workbooks as the tests need them, from rows of numbers, dates and texts; .xls by xlwt."""

import datetime
import io
import zipfile
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_OPEN = "urn:oasis:names:tc:opendocument:xmlns"
_STYLES = (
    '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22" applyNumberFormat="1"/></cellXfs>'  # 1: a date
)


def _zipped(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return out.getvalue()


def xlsx(rows, *others, start=1):
    """A workbook with this sheet first, and others after it; numbers with 17 digits as Excel writes them."""
    sheets = [_sheet(own, start) for own in (rows, *others)]
    numbers = range(1, len(sheets) + 1)
    names = "".join(f'<sheet name="Sheet{n}" sheetId="{n}" r:id="rId{n}"/>' for n in numbers)
    links = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in numbers
    )
    return _zipped(
        **{
            "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="rId1" '
            f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
            f"<sheets>{names}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{links}</Relationships>',
            "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}">{_STYLES}</styleSheet>',
        },
        **{f"xl/worksheets/sheet{n}.xml": sheet for n, sheet in zip(numbers, sheets, strict=True)},
    )


def _sheet(rows, start):
    lines = []
    for number, row in enumerate(rows, start):
        cells = []
        for column, value in enumerate(row):
            place = f"{_letters(column)}{number}"
            if isinstance(value, datetime.datetime):
                days = (value - datetime.datetime(1899, 12, 30)) / datetime.timedelta(days=1)
                cells.append(f'<c r="{place}" s="1"><v>{days:.17g}</v></c>')
            elif isinstance(value, str) and value:
                cells.append(f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>')
            elif value != "":
                cells.append(f'<c r="{place}"><v>{value:.17g}</v></c>')
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def _letters(column):
    text, column = "", column + 1
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def ods(rows):
    """A workbook of LibreOffice with one sheet."""
    lines = []
    for row in rows:
        cells = [
            f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p>'
            "</table:table-cell>"
            if isinstance(value, str)
            else f'<table:table-cell office:value-type="float" office:value="{value!r}"/>'
            for value in row
        ]
        lines.append(f"<table:table-row>{''.join(cells)}</table:table-row>")
    spaces = " ".join(f'xmlns:{name}="{_OPEN}:{name}:1.0"' for name in ("office", "table", "text"))
    sheet = f'<table:table table:name="one">{"".join(lines)}</table:table>'
    body = f"<office:spreadsheet>{sheet}</office:spreadsheet>"
    return _zipped(
        **{
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": f"<office:document-content {spaces}><office:body>{body}</office:body>"
            "</office:document-content>",
            "META-INF/manifest.xml": '<manifest:manifest xmlns:manifest="'
            f'{_OPEN}:manifest:1.0"></manifest:manifest>',
        }
    )


def xls(rows):
    """A workbook of Excel 97."""
    import xlwt

    book = xlwt.Workbook()
    sheet = book.add_sheet("one")
    for number, row in enumerate(rows):
        for column, value in enumerate(row):
            sheet.write(number, column, value)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
